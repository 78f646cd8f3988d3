-- the most frequent values of a field of a class of events
-- :class the class
-- :field the field
-- :top 20 how many
SELECT value, count(*) AS events
FROM (SELECT coalesce(fields ->> ('$."' || :field || '"'), context ->> ('$."' || :field || '"')) AS value FROM events WHERE name = :class)
WHERE value IS NOT NULL
GROUP BY value
ORDER BY events DESC, value
LIMIT :top;
-- ClickHouse
SELECT value, count() AS events
FROM (
    SELECT multiIf(raw = 'true', '1', raw = 'false', '0', raw LIKE '"%',
        visitParamExtractString(concat('{"x":', raw, '}'), 'x'), raw) AS value
    FROM (
        SELECT trace, id, source, arrayStringConcat(arraySlice(tokens, at, until - at)) AS raw
        FROM (
            SELECT trace, id, source, tokens, at,
                arrayFirstIndex((t, d, i) -> i > at AND (d = 0 OR (d = 1 AND t = ',')), tokens, depth,
                    arrayEnumerate(tokens)) AS until
            FROM (
                SELECT trace, id, source, tokens, depth,
                    2 + arrayFirstIndex((t, next, d) -> d = 1 AND next = ':' AND
                        visitParamExtractString(concat('{"x":', t, '}'), 'x') = :field,
                        tokens, arrayPushBack(arrayPopFront(tokens), ''), depth) AS at
                FROM (
                    SELECT trace, id, source, tokens,
                        arrayCumSum(arrayMap(t -> (t IN ('{', '[')) - (t IN ('}', ']')), tokens)) AS depth
                    FROM (
                        SELECT trace, id, source,
                            extractAll(object, '"(?:[^"\\\\]|\\\\.)*"|[^][{}:,"[:space:]]+|[][{}:,]') AS tokens
                        FROM (
                            SELECT trace, id, ifNull(fields, '') AS fields, ifNull(context, '') AS context
                            FROM events
                            WHERE name = :class
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
)
GROUP BY value
ORDER BY events DESC, value
LIMIT :top;
