-- how many events of each class there are over time
-- :step 1s the length of a step
SELECT floor_to(ts, :step) AS step, name, count(*) AS events
FROM events
WHERE ts IS NOT NULL
GROUP BY step, name
ORDER BY step, name;
