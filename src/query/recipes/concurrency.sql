-- how many calls of a function, or spans of a name, ran at once, at most
-- :name the function
WITH steps AS (
    SELECT ts, 1 AS step FROM slices WHERE name = :name
    UNION ALL
    SELECT end_ts, -1 FROM slices WHERE name = :name AND end_ts IS NOT NULL
)
SELECT max(running) AS most_at_once
FROM (SELECT sum(step) OVER (ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS running FROM steps);
