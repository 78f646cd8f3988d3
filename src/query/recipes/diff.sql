-- functions before and after: the first trace and the second
-- :top 20 how many
SELECT name,
    sum(CASE WHEN trace = 1 THEN calls ELSE 0 END) AS calls_before,
    sum(CASE WHEN trace = 2 THEN calls ELSE 0 END) AS calls_after,
    sum(CASE WHEN trace = 1 THEN self ELSE 0 END) AS self_before,
    sum(CASE WHEN trace = 2 THEN self ELSE 0 END) AS self_after
FROM function_stats
GROUP BY name
ORDER BY abs(sum(CASE WHEN trace = 2 THEN self ELSE -self END)) DESC, name
LIMIT :top;
-- ClickHouse
-- :before the path of the first trace, as it was loaded
-- :after the path of the second one
SELECT name, sum(calls * first) AS calls_before, sum(calls * second) AS calls_after, sum(self * first) AS self_before,
    sum(self * second) AS self_after
FROM (
    SELECT name, calls, self, trace IN (SELECT trace FROM traces WHERE path = :before) AS first,
        trace IN (SELECT trace FROM traces WHERE path = :after) AS second
    FROM function_stats
)
WHERE first OR second
GROUP BY name
ORDER BY abs(self_after - self_before) DESC, name
LIMIT :top;
