-- how many events of each class there are over time
-- :step 1s the length of a step
SELECT ts AS step, name, sum(events) AS events
FROM event_counts('class', :step)
WHERE ts IS NOT NULL
GROUP BY ts, name
ORDER BY ts, name;
-- ClickHouse
SELECT ts - (ts % :step + :step) % :step AS step, name, count() AS events
FROM events
WHERE ts IS NOT NULL
GROUP BY step, name
ORDER BY step, name;
