-- how long it takes from an event to the next one of another class with the same value in a field: wake-up to switch
-- :from the class of the first event
-- :to the class of the second one
-- :from_field the field of the first event
-- :to_field the field of the second one
SELECT count(*) AS pairs, min(wait) AS shortest, percentile(wait, 50) AS p50, percentile(wait, 99) AS p99,
    max(wait) AS longest
FROM (
    SELECT second, ts - lag(CASE WHEN second THEN NULL ELSE ts END) OVER (PARTITION BY trace, value ORDER BY ts, id) AS wait
    FROM (
        SELECT trace, id, ts, second, coalesce(fields ->> field, context ->> field) AS value
        FROM (
            SELECT trace, id, ts, name = :to AS second, fields, context,
                '$."' || CASE WHEN name = :to THEN :to_field ELSE :from_field END || '"' AS field
            FROM events
            WHERE name IN (:from, :to) AND ts IS NOT NULL
        )
    )
    WHERE value IS NOT NULL
)
WHERE second AND wait IS NOT NULL;
-- ClickHouse
SELECT length(waits) AS pairs, if(pairs = 0, NULL, waits[1]) AS shortest,
    if(pairs = 0, NULL, waits[intDiv(pairs * 50 + 99, 100)]) AS p50,
    if(pairs = 0, NULL, waits[intDiv(pairs * 99 + 99, 100)]) AS p99, if(pairs = 0, NULL, waits[pairs]) AS longest
FROM (
    SELECT arraySort(groupArrayArray(waits)) AS waits
    FROM (
        SELECT arrayFilter((wait, this, before) -> this AND NOT before,
            arrayMap((t, before) -> t - before, groupArray(ts) AS times, arrayPushFront(arrayPopBack(times), 0)),
            groupArray(second) AS is_second, arrayPushFront(arrayPopBack(is_second), 1)) AS waits
        FROM (
            SELECT trace, id, ts, second, multiIf(raw = 'true', '1', raw = 'false', '0', raw LIKE '"%',
                visitParamExtractString(concat('{"x":', raw, '}'), 'x'), raw) AS value
            FROM (
                SELECT trace, id, ts, second, source, arrayStringConcat(arraySlice(tokens, at, until - at)) AS raw
                FROM (
                    SELECT trace, id, ts, second, source, tokens, at,
                        arrayFirstIndex((t, d, i) -> i > at AND (d = 0 OR (d = 1 AND t = ',')), tokens, depth,
                            arrayEnumerate(tokens)) AS until
                    FROM (
                        SELECT trace, id, ts, second, source, tokens, depth,
                            2 + arrayFirstIndex((t, next, d) -> d = 1 AND next = ':' AND
                                visitParamExtractString(concat('{"x":', t, '}'), 'x') =
                                if(second, :to_field, :from_field),
                                tokens, arrayPushBack(arrayPopFront(tokens), ''), depth) AS at
                        FROM (
                            SELECT trace, id, ts, second, source, tokens,
                                arrayCumSum(arrayMap(t -> (t IN ('{', '[')) - (t IN ('}', ']')), tokens)) AS depth
                            FROM (
                                SELECT trace, id, ts, second, source,
                                    extractAll(object, '"(?:[^"\\\\]|\\\\.)*"|[^][{}:,"[:space:]]+|[][{}:,]') AS tokens
                                FROM (
                                    SELECT trace, id, assumeNotNull(ts) AS ts, assumeNotNull(name = :to) AS second,
                                        ifNull(fields, '') AS fields, ifNull(context, '') AS context
                                    FROM events
                                    WHERE name IN (:from, :to) AND ts IS NOT NULL
                                )
                                ARRAY JOIN [fields, context] AS object, [1, 2] AS source
                                WHERE object != ''
                            )
                        )
                    )
                    WHERE at > 2
                )
                WHERE raw != 'null'
                ORDER BY trace, id, source
                LIMIT 1 BY trace, id
            )
            ORDER BY trace, value, ts, id
        )
        GROUP BY trace, value
    )
);
