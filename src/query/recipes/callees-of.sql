-- what a function calls, how often and for how long
-- :name the function
SELECT name AS callee, count(*) AS calls, sum(dur) AS total, max(dur) AS max_dur
FROM calls
WHERE caller = :name
GROUP BY callee
ORDER BY total DESC, callee;
