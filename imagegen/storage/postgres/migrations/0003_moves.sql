-- minimum program: 3
--
-- Whether everything is being moved elsewhere, or into here: a mark of package transfer. A program that knows
-- nothing of it would work on what is half there.
create table imagegend.moves (
  one boolean primary key default true check (one),
  form bytea not null
);
insert into imagegend.moves values (true, '');

-- What its triggers refuse, see SetMark.
create function imagegend.moved() returns trigger language plpgsql as '
begin raise exception ''everything here was moved, or is being moved, elsewhere''; end';
