-- how long the calls of each stack took over time
-- :step 1min the length of a step
-- :depth 0 only stacks of that many functions; 0: all
-- :top 20 how many
SELECT s.ts AS step, s.path, s.calls, s.p99
FROM call_stats('place', :step) AS s JOIN places AS p USING (trace, place_id)
WHERE :depth IN (0, p.depth)
ORDER BY s.ts, s.p99 DESC, s.path
LIMIT :top;
-- ClickHouse
SELECT step, path, calls, p99
FROM (
    SELECT trace, place_id, step, calls,
        if(hz = 0, toInt64(ticks), toInt64(intDiv(ticks, per) * 1000000000 + whole +
            (2 * left > per OR (2 * left = per AND whole % 2 = 1)))) AS p99
    FROM (
        SELECT trace, place_id, step, calls, ticks, hz, per, intDiv(ticks % per * 1000000000, per) AS whole,
            ticks % per * 1000000000 % per AS left
        FROM (
            SELECT trace, place_id, step, calls, hz, greatest(hz, 1) AS per,
                if(rank > 1 AND rank < calls, least(longest, greatest(shortest, bitShiftLeft(bitShiftRight(exact, shift),
                    shift) + intDiv(bitShiftLeft(toUInt64(1), shift) - 1, 2))), exact) AS ticks
            FROM (
                SELECT trace, place_id, step, calls, rank, durs[1] AS shortest, durs[calls] AS longest,
                    durs[rank] AS exact,
                    length(arrayFilter(i -> i > 8 AND exact >= bitShiftLeft(toUInt64(1), i), range(64))) AS shift
                FROM (
                    SELECT trace, assumeNotNull(place_id) AS place_id, assumeNotNull(ts - ts % :step) AS step,
                        arraySort(groupArray(toUInt64(assumeNotNull(dur_ticks)))) AS durs, length(durs) AS calls,
                        intDiv(calls * 99 + 99, 100) AS rank
                    FROM calls
                    WHERE dur IS NOT NULL AND place_id IS NOT NULL
                    GROUP BY trace, place_id, step
                )
            ) AS c ANY LEFT JOIN (SELECT trace, toUInt64(ifNull(hz, 0)) AS hz FROM traces) AS t USING (trace)
        )
    )
) AS c JOIN (
    SELECT trace, assumeNotNull(place_id) AS place_id, path
    FROM places
    WHERE :depth = 0 OR depth = :depth
) AS p USING (trace, place_id)
ORDER BY step, p99 DESC, path
LIMIT :top;
