-- system calls that failed, by error
-- :top 20 how many
SELECT number, name, count(*) AS failed, errno, error
FROM syscalls
WHERE errno IS NOT NULL
GROUP BY number, name, errno, error
ORDER BY failed DESC, number, errno
LIMIT :top;
-- ClickHouse
SELECT number, any(name) AS name, count() AS failed, errno, any(error) AS error
FROM syscalls
WHERE errno IS NOT NULL
GROUP BY number, errno
ORDER BY failed DESC, number, errno
LIMIT :top;
