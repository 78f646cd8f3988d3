-- pages and lines of memory that are used over time
-- :step 1000 the length of a step, in instructions
SELECT floor_to(ts, :step) AS step, count(DISTINCT floor_to(address, 4096)) AS pages,
    count(DISTINCT floor_to(address, 64)) AS lines, count(*) AS accesses
FROM accesses
GROUP BY step
ORDER BY step;
-- ClickHouse
SELECT ts - (ts % :step + :step) % :step AS step, uniqExact(bitShiftRight(address, 12)) AS pages,
    uniqExact(bitShiftRight(address, 6)) AS lines, count() AS accesses
FROM accesses
GROUP BY step
ORDER BY step;
