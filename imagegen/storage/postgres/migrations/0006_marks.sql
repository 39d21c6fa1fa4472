-- minimum program: 1
--
-- Keys that are kept until a time, for limits that several processes share and for what works once. They are not in kept,
-- since people who try names and passwords must not hold up administrative acts.
create table imagegend.marks (
  key bytea primary key,
  until bigint not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index marks_until on imagegend.marks (until);
