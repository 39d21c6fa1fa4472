-- minimum program: 1
--
-- Identifiers are bytea: they are bytes, and sort as such whatever the database's collation. Times are
-- nanoseconds since 1970. A column named form holds a row as package kv encodes it; the columns beside it
-- follow from it, and serve to find it.

-- One row for each user, also without credits: who changes anything of a user's locks it first.
create table imagegend.accounts (
  usr bytea primary key,
  seq bigint not null check (seq >= 0),
  next bigint, -- when the first of what is available expires; null: nothing does
  form bytea not null
) with (fillfactor = 50);
create index accounts_due on imagegend.accounts (next) where next is not null;

-- live has a column of its own so that a charge, which takes a part of a lot, touches no index.
create table imagegend.lots (
  usr bytea not null,
  lot bigint not null,
  priority smallint not null,
  expires bigint not null, -- never: 9223372036854775807
  paid boolean not null,
  effective bigint not null,
  live boolean not null,
  form bytea not null,
  primary key (usr, lot)
) with (fillfactor = 50);
create index lots_spendable on imagegend.lots (usr, priority, expires, paid, effective, lot) where live;
create index lots_expiring on imagegend.lots (usr, expires, lot) where live and expires < 9223372036854775807;

create table imagegend.journal (
  usr bytea not null,
  seq bigint not null,
  at bigint not null,
  epoch bigint not null,
  ref bytea,
  form bytea not null,
  primary key (usr, seq)
);
create unique index journal_refs on imagegend.journal (ref) where ref is not null;

-- Where the last entry of a charge stands: all else of it follows from that.
create table imagegend.charges (
  id bytea primary key,
  usr bytea not null,
  seq bigint not null,
  open boolean not null,
  lots bigint[] not null, -- that it was taken from
  key bytea,              -- of the row of usage that it counts in
  day bigint,
  model bytea
) with (fillfactor = 80);
create index charges_open on imagegend.charges (id) where open;

create table imagegend.usage (
  usr bytea not null,
  key bytea not null,
  day bigint not null, -- its midnight, in seconds since 1970
  model bytea not null,
  form bytea not null,
  primary key (usr, key, day, model)
) with (fillfactor = 50);

create table imagegend.totals (
  usr bytea not null,
  key bytea not null,
  form bytea not null,
  primary key (usr, key)
) with (fillfactor = 50);

create table imagegend.clock (
  one boolean primary key default true check (one),
  form bytea
);
insert into imagegend.clock default values;

create table imagegend.generations (
  id bytea primary key,
  usr bytea not null,
  status text,                 -- null: invisible
  unsettled boolean not null,
  disputed boolean not null,
  created bigint not null,
  ended bigint,                -- of those that ended and are there to be read
  idempotency bytea,           -- hash of the idempotency key
  nth bigint not null,         -- of those that came by that key
  joining bytea,               -- key of the equal calls that may join
  tells bigint,                -- end of what ended and has something to be forgotten
  erased boolean not null,
  favourite boolean not null,
  form bytea not null
) with (fillfactor = 70);
create index generations_listed on imagegend.generations (usr, status, id) where status is not null;
create index generations_favourites on imagegend.generations (usr, status, id) where favourite;
create index generations_unsettled on imagegend.generations (id) where unsettled;
create index generations_disputed on imagegend.generations (id) where disputed;
create index generations_ended on imagegend.generations (created, id) where ended is not null;
create index generations_reserved on imagegend.generations (usr, idempotency, nth) where idempotency is not null;
create index generations_joining on imagegend.generations (usr, joining, id) where joining is not null;
create index generations_tells on imagegend.generations (erased, tells, id) where tells is not null;

-- Of running generations; small and hot.
create table imagegend.leases (
  id bytea primary key,
  attempt bigint not null,
  until bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Of queued generations; small and hot.
create table imagegend.waiting (
  id bytea primary key,
  usr bytea not null,
  model bytea not null,
  begun boolean not null,      -- before, in an attempt that did not finish it
  due bigint,                  -- null: it is
  since bigint not null        -- when the generation was created
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index waiting_due on imagegend.waiting (usr, model, begun desc, id) where due is null;
create index waiting_delayed on imagegend.waiting (due) where due is not null;
create index waiting_old on imagegend.waiting (since);

-- The place of each user with work that is due in the line of each model. A row may outlast the work for as
-- long as nobody claims; it is never missing.
create table imagegend.turns (
  usr bytea not null,
  model bytea not null,
  turn bigint not null,
  primary key (usr, model)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index turns_in_line on imagegend.turns (model, turn);

-- Users, keys, logins, sign-ins, invitations and the audit trail: values of package table, by bucket.
create table imagegend.kept (
  bucket text collate "C" not null,
  key bytea not null,
  value bytea not null,
  primary key (bucket, key)
);

-- Who changes what is kept, or writes off or corrects the books of many, locks this row first.
create table imagegend.acts (one boolean primary key default true check (one));
insert into imagegend.acts default values;

-- When a process began last what one of all is to do once in a while.
create table imagegend.duties (duty text primary key, began timestamptz not null);
