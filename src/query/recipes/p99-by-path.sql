-- how long the calls of each stack took over time
-- :step 1min the length of a step
-- :depth 0 only stacks of that many functions; 0: all
-- :top 20 how many
SELECT s.ts AS step, s.path, s.calls, s.p99
FROM call_stats('place', :step) AS s JOIN places AS p USING (trace, place_id)
WHERE :depth IN (0, p.depth)
ORDER BY s.ts, s.p99 DESC, s.path
LIMIT :top;
-- ClickHouse: call_stats() is made from files only
