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
        SELECT trace, id, ts, name = :to AS second,
            coalesce(fields ->> CASE WHEN name = :to THEN :to_field ELSE :from_field END,
                context ->> CASE WHEN name = :to THEN :to_field ELSE :from_field END) AS value
        FROM events
        WHERE name IN (:from, :to) AND ts IS NOT NULL
    )
    WHERE value IS NOT NULL
)
WHERE second AND wait IS NOT NULL;
-- ClickHouse: fields of events are JSON, which release 18.16 cannot take apart
