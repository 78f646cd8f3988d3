-- the part of the time that each thread spent in calls
SELECT thread, sum(c.dur) AS busy, 100.0 * sum(c.dur) / max(t.dur) AS percent, count(*) AS outermost_calls
FROM calls AS c JOIN traces AS t USING (trace)
WHERE depth = 1
GROUP BY thread
ORDER BY busy DESC, thread;
