-- minimum program: 3
--
-- Whether everything is being moved elsewhere, or into here: a mark of package transfer. A program that knows
-- nothing of it would work on what is half there.
create table imagegend.moves (
  one boolean primary key default true check (one),
  form bytea not null
);
insert into imagegend.moves values (true, '');
