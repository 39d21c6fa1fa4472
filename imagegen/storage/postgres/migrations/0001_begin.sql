-- minimum program: 1
--
-- docs/schema.md tells what each table and column is. Identifiers are compared byte by byte, whatever the collation of
-- the database. No table refers to another by a foreign key: that would lock the row of a user whom all calls share, and
-- users need not be here.

create table imagegend.users (
  id text collate "C" primary key,
  name text collate "C" not null unique,
  display_name text,
  account_type text not null,
  created_at timestamptz,
  disabled_at timestamptz,
  suspended_at timestamptz,
  sponsor text collate "C",
  limit_credits bigint not null,
  limit_daily bigint not null,
  limit_monthly bigint not null,
  limit_at_once bigint not null
);
create index users_members on imagegend.users (sponsor, name) where sponsor is not null;

create table imagegend.api_keys (
  hash bytea primary key,
  id text collate "C" not null unique,
  usr text collate "C" not null,
  name text not null,
  prefix text not null,
  created_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  members bigint not null,
  limit_credits bigint not null,
  limit_daily bigint not null,
  limit_monthly bigint not null,
  limit_at_once bigint not null
) with (fillfactor = 70); -- last_used_at changes often
create index api_keys_users on imagegend.api_keys (usr, id);

create table imagegend.operator_keys (
  hash bytea primary key,
  id text collate "C" not null unique,
  name text not null,
  prefix text not null,
  scopes text not null,
  created_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

create table imagegend.passwords (
  usr text collate "C" primary key,
  role text not null,
  password text,
  changed_at timestamptz
);

create table imagegend.sign_ins (
  hash bytea primary key,
  usr text collate "C" not null,
  created_at timestamptz,
  seen_at timestamptz,
  confirmed_at timestamptz,
  agent text not null
) with (fillfactor = 70);
create index sign_ins_users on imagegend.sign_ins (usr, hash);

create table imagegend.invitations (
  hash bytea primary key,
  usr text collate "C" not null,
  role text not null,
  expires_at timestamptz
);
create index invitations_users on imagegend.invitations (usr, hash);

create table imagegend.passkeys (
  id text collate "C" primary key,
  usr text collate "C" not null,
  name text not null,
  credential bytea,
  uses bigint not null,
  created_at timestamptz,
  last_used_at timestamptz
);
create index passkeys_users on imagegend.passkeys (usr, id);

create table imagegend.identities (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  usr text collate "C" not null,
  created_at timestamptz,
  primary key (issuer, subject)
);
create index identities_users on imagegend.identities (usr, issuer, subject);

create table imagegend.trail (
  seq bigint primary key,
  at timestamptz,
  via text not null,
  actor text not null,
  actor_usr text collate "C",
  address text,
  act text not null,
  target text collate "C" not null,
  usr text collate "C",
  before text,
  after text,
  outcome text not null,
  count bigint not null,
  hash bytea not null
);

create table imagegend.trail_ends (
  name text collate "C" primary key,
  seq bigint not null,
  hash bytea not null
);

create table imagegend.settings (
  name text collate "C" primary key,
  value text not null
);

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
create index usage_by_day on imagegend.usage (day, usr, key);

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
create index generations_ends on imagegend.generations (ended, id) where ended is not null;
-- Its condition is one that no page of a single status has: such a page would search it for the few that fit.
create index generations_newest on imagegend.generations (usr, id) where coalesce(status, '') <> '';
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

-- What generations count for: sums that follow from them, for operators. day is in seconds since 1970, cost in
-- millionths.
create table imagegend.generation_totals (
  day bigint not null, model bytea not null, usr bytea not null, key bytea not null,
  generations bigint not null, images bigint not null, spent bigint not null,
  attempts bigint not null, unknown bigint not null, cost bigint not null,
  primary key (day, model, usr, key)
);

-- Keys that are kept until a time, for limits that several processes share and for what works once.
create table imagegend.marks (
  key bytea primary key,
  until bigint not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index marks_until on imagegend.marks (until);

-- Who changes users, keys or sign-ins, or writes off or corrects the books of many, locks this row first.
create table imagegend.acts (one boolean primary key default true check (one));
insert into imagegend.acts default values;

-- When a process began last what one of all is to do once in a while.
create table imagegend.duties (duty text primary key, began timestamptz not null);

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
