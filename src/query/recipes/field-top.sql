-- the most frequent values of a field of a class of events
-- :class the class
-- :field the field
-- :top 20 how many
SELECT value, count(*) AS events
FROM (SELECT coalesce(fields ->> :field, context ->> :field) AS value FROM events WHERE name = :class)
WHERE value IS NOT NULL
GROUP BY value
ORDER BY events DESC, value
LIMIT :top;
-- ClickHouse: fields of events are JSON, which release 18.16 cannot take apart
