-- who calls a function, how often and for how long
-- :name the function
SELECT caller, count(*) AS calls, sum(dur) AS total, max(dur) AS max_dur
FROM calls
WHERE name = :name
GROUP BY caller
ORDER BY total DESC, caller;
