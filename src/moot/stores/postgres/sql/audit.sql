-- Reading the audit. The shapes are those of records/.

-- name: entries
-- From a moment on and before another, of somebody, about some things, of some acts; newest first.
SELECT string_agg(shape, ',') FROM (
    SELECT shape FROM audit_entries_shape
    WHERE last_us >= $1 AND last_us < $2
    AND ($3 = '' OR by = $3 OR on_behalf_of = $3 OR subject = 'agent ' || $3 OR detail::json ->> 'agent' = $3
        OR detail::json ->> 'participant' = $3 OR detail::json ->> 'from' = $3 OR detail::json ->> 'to' = $3)
    AND (cardinality($4::text[]) = 0 OR subject = ANY($4::text[]))
    AND (cardinality($5::text[]) = 0 OR act = ANY($5::text[]))
    ORDER BY last_us DESC, chain DESC, place DESC LIMIT $6
) found;

-- name: ends
-- Where every chain ends that may have grown since a moment, as far as its entries are final.
SELECT 'conversation:' || id, chain_length, chain FROM conversations WHERE updated_us >= $1 AND chain_length > 0
UNION ALL SELECT 'note:' || name, version, hash FROM notes WHERE updated_us >= $1
UNION ALL SELECT 'task:' || id, chain_length, chain FROM tasks WHERE updated_us >= $1 AND chain_length > 0
UNION ALL
SELECT h.chain, h.sealed, e.hash FROM chain_heads h JOIN audit_entries e ON e.chain = h.chain AND e.place = h.sealed;
