-- minimum program: 1
--
-- By whichever index a user's usage of a day is found, nobody else's is read: that of days alone is taken by a planner
-- whose statistics are older than the day.
create index usage_by_day on imagegend.usage (day, usr, key);
drop index imagegend.usage_days;
