-- processor time that each thread used, as far as it was measured
-- :step 1s the length of a step; an interval belongs to the one in which it began
SELECT floor_to(ts, :step) AS step, thread, sum(used) AS used
FROM cpu_usage
WHERE ts IS NOT NULL
GROUP BY step, trace, thread
ORDER BY step, trace, thread;
-- ClickHouse
SELECT ts - (ts % :step + :step) % :step AS step, thread, sum(used) AS used
FROM cpu_usage
WHERE ts IS NOT NULL
GROUP BY step, trace, thread
ORDER BY step, trace, thread;
