-- calls that took many times the median of their place
-- :times 10 how many times
-- :top 20 how many calls
SELECT c.ts, c.dur, p.p50 AS median, 1.0 * c.dur / p.p50 AS times, c.thread, c.name
FROM calls AS c JOIN places AS p USING (trace, place_id)
WHERE p.p50 > 0 AND c.dur > :times * p.p50
ORDER BY times DESC, c.ts
LIMIT :top;
