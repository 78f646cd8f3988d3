-- stacks before and after: the first trace and the second
-- :top 20 how many
SELECT path,
    sum(CASE WHEN trace = 1 THEN calls ELSE 0 END) AS calls_before,
    sum(CASE WHEN trace = 2 THEN calls ELSE 0 END) AS calls_after,
    sum(CASE WHEN trace = 1 THEN self ELSE 0 END) AS self_before,
    sum(CASE WHEN trace = 2 THEN self ELSE 0 END) AS self_after
FROM places
GROUP BY path
ORDER BY abs(sum(CASE WHEN trace = 2 THEN self ELSE -self END)) DESC, path
LIMIT :top;
