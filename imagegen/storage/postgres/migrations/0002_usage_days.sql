-- minimum program: 1
--
-- Who sums over all users reads no other days.
create index usage_days on imagegend.usage (day);
