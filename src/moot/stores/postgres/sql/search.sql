-- Search: one index holds the words of a message and its traits (search.py makes both); the rest are plain conditions.

-- name: pairs_of
-- The conversations of somebody in which whoever speaks addresses the other.
SELECT m.conversation FROM members m JOIN conversations c ON c.id = m.conversation
WHERE m.participant = $1 AND c.kind IN ('direct', 'link', 'ephemeral');

-- name: search
-- Newest first, at most $1: all words of $2 and phrases of $3; any of each list $4 authors, $5 conversations, $6 kinds, $7 kinds
-- of conversations, where one is given; all traits of $8 and none of $9; addressed to any of $10, or in $11 and not by $12
-- there; $13 <= at < $14; seen by $15.
SELECT m.shape, m.content FROM message_shape m JOIN conversations c ON c.id = m.conversation
WHERE string_to_array(m.said || m.traits, ' ') @> ($2::text[] || $8::text[])
  AND NOT string_to_array(m.traits, ' ') && $9::text[]
  AND NOT EXISTS (SELECT 1 FROM unnest($3::text[]) phrase WHERE strpos(m.said, phrase) = 0)
  AND (cardinality($4::text[]) = 0 OR m.sender = ANY($4::text[]))
  AND (cardinality($5::text[]) = 0 OR m.conversation = ANY($5::text[]))
  AND (cardinality($6::text[]) = 0 OR m.kind = ANY($6::text[]))
  AND (cardinality($7::text[]) = 0 OR c.kind = ANY($7::text[]))
  AND (cardinality($10::text[]) = 0 OR string_to_array(m.traits, ' ') && $10::text[] OR EXISTS (
      SELECT 1 FROM unnest($11::text[], $12::text[]) pair(conversation, addressed)
      WHERE pair.conversation = m.conversation AND pair.addressed <> m.sender))
  AND m.at_us >= $13 AND m.at_us < $14
  AND ($15::text IS NULL OR m.conversation IN (SELECT conversation FROM members WHERE participant = $15))
ORDER BY m.number DESC LIMIT $1;

-- name: count
-- How many there are, counted up to a limit; the values are those of search.
SELECT count(*) FROM (
    SELECT 1 FROM messages m JOIN conversations c ON c.id = m.conversation
    WHERE string_to_array(m.said || m.traits, ' ') @> ($2::text[] || $8::text[])
      AND NOT string_to_array(m.traits, ' ') && $9::text[]
      AND NOT EXISTS (SELECT 1 FROM unnest($3::text[]) phrase WHERE strpos(m.said, phrase) = 0)
      AND (cardinality($4::text[]) = 0 OR m.sender = ANY($4::text[]))
      AND (cardinality($5::text[]) = 0 OR m.conversation = ANY($5::text[]))
      AND (cardinality($6::text[]) = 0 OR m.kind = ANY($6::text[]))
      AND (cardinality($7::text[]) = 0 OR c.kind = ANY($7::text[]))
      AND (cardinality($10::text[]) = 0 OR string_to_array(m.traits, ' ') && $10::text[] OR EXISTS (
          SELECT 1 FROM unnest($11::text[], $12::text[]) pair(conversation, addressed)
          WHERE pair.conversation = m.conversation AND pair.addressed <> m.sender))
      AND m.at_us >= $13 AND m.at_us < $14
      AND ($15::text IS NULL OR m.conversation IN (SELECT conversation FROM members WHERE participant = $15))
    LIMIT $1
) found;
