-- functions that were on top of stacks while garbage was collected
-- :top 20 how many
SELECT s.name, sum(s.samples) AS samples, sum(s.time) AS time
FROM collections AS g CROSS JOIN samples AS s
WHERE s.trace = g.trace AND s.ts >= g.ts AND s.ts < g.end_ts
GROUP BY s.name
ORDER BY samples DESC, s.name
LIMIT :top;
