-- the longest calls: where and when
-- :name '*' functions whose name matches
-- :top 20 how many
SELECT c.ts, c.dur, c.self, c.thread, c.name, p.path
FROM (
    SELECT trace, place_id, ts, dur, self, thread, name
    FROM calls
    WHERE name GLOB :name
    ORDER BY dur DESC, ts
    LIMIT :top
) AS c JOIN places AS p USING (trace, place_id)
ORDER BY c.dur DESC, c.ts;
-- ClickHouse
SELECT c.ts, c.dur, c.self, c.thread, c.name, p.path
FROM (
    SELECT trace, place_id, ts, dur, self, thread, name
    FROM calls
    WHERE match(name, glob(:name))
    ORDER BY dur DESC, ts
    LIMIT :top
) AS c JOIN places AS p USING (trace, place_id)
ORDER BY c.dur DESC, c.ts;
