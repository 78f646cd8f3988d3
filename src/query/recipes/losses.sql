-- what was lost or damaged, of all inputs
SELECT path, 'lost events' AS what, lost_events AS n FROM traces WHERE lost_events > 0
UNION ALL
SELECT path, 'lost packets', lost_packets FROM traces WHERE lost_packets > 0
UNION ALL
SELECT t.path, d.rule || ' at byte ' || d.offset, d.bytes
FROM damage AS d JOIN traces AS t USING (trace);
