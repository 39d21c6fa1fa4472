-- minimum program: 8
--
-- What generations count for: sums that follow from them, for operators. day is in seconds since 1970, cost in
-- millionths.
create table imagegend.generation_totals (
  day bigint not null, model bytea not null, payer bytea not null, usr bytea not null, key bytea not null,
  generations bigint not null, images bigint not null, spent bigint not null,
  attempts bigint not null, unknown bigint not null, cost bigint not null,
  primary key (day, model, payer, usr, key));
