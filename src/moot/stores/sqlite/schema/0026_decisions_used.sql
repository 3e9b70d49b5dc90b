-- What a person allowed once is marked as used in the decision itself, not in each session of the agent.
ALTER TABLE cli_sessions DROP COLUMN grants;
