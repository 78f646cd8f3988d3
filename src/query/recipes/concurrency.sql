-- how many calls of a function, or spans of a name, ran at once, at most
-- :name the function
WITH steps AS (
    SELECT ts, 1 AS step FROM slices WHERE name = :name
    UNION ALL
    SELECT end_ts, -1 FROM slices WHERE name = :name AND end_ts IS NOT NULL
)
SELECT max(running) AS most_at_once
FROM (SELECT sum(step) OVER (ORDER BY ts, step ROWS UNBOUNDED PRECEDING) AS running FROM steps);
-- ClickHouse
SELECT arrayReduce('max', arrayCumSum(groupArray(step))) AS most_at_once
FROM (
    SELECT ts, step
    FROM (
        SELECT assumeNotNull(ts) AS ts, 1 AS step FROM slices WHERE name = :name AND ts IS NOT NULL
        UNION ALL
        SELECT assumeNotNull(end_ts), -1 FROM slices WHERE name = :name AND end_ts IS NOT NULL
    )
    ORDER BY ts, step
);
