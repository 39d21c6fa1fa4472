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
  limit_at_once bigint not null,
  limit_models jsonb,
  notify_below bigint not null default 0
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
  limit_at_once bigint not null,
  limit_models jsonb
) with (fillfactor = 50); -- last_used_at changes often
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
create index sign_ins_seen on imagegend.sign_ins (seen_at);
create index sign_ins_created on imagegend.sign_ins (created_at);

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

-- What is not yet in the trail: rows that get their places there, and their hashes, a moment later. So those who add
-- some need not wait for each other.
create table imagegend.trail_new (
  id bigint generated always as identity primary key,
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
  count bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

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
  usr text collate "C" primary key,
  available bigint not null default 0,
  held bigint not null default 0,
  granted bigint not null default 0,
  spent bigint not null default 0,
  expired bigint not null default 0,
  revoked bigint not null default 0,
  expiring bigint not null default 0,
  expires_at timestamptz,
  lots bigint not null default 0,
  seq bigint not null default 0 check (seq >= 0),
  hash bytea,
  at timestamptz,
  epoch bigint not null default 0
) with (fillfactor = 50);
create index accounts_due on imagegend.accounts (expires_at) where expires_at is not null;

-- live has a column of its own so that a charge, which takes a part of a lot, touches no index.
create table imagegend.lots (
  usr text collate "C" not null,
  lot bigint not null,
  granted bigint not null,
  remaining bigint not null,
  held bigint not null,
  spent bigint not null,
  expired bigint not null,
  revoked bigint not null,
  moved bigint not null,
  promo boolean not null,
  priority integer not null,
  effective_at timestamptz not null,
  expires_at timestamptz,
  ref text,
  refund boolean not null,
  live boolean generated always as (remaining > 0) stored,
  primary key (usr, lot)
) with (fillfactor = 50);
create index lots_spendable on imagegend.lots (usr, priority, expires_at, promo desc, effective_at, lot) where live;
create index lots_expiring on imagegend.lots (usr, expires_at, lot) where live and expires_at is not null;

-- The journal.
create table imagegend.entries (
  usr text collate "C" not null,
  seq bigint not null,
  at timestamptz,
  epoch bigint not null,
  kind text not null,
  charge text collate "C",
  ref text collate "C",
  actor text,
  member text collate "C",
  model text collate "C",
  api_key text collate "C",
  credits bigint not null,
  used bigint not null,
  balance bigint not null,
  images integer not null,
  cancelled boolean not null,
  charged_at timestamptz,
  lots bigint[],
  took bigint[],
  back bigint[],
  moved bigint[],
  made_lots bigint[],
  made_credits bigint[],
  made_promo boolean[],
  made_priority bigint[],
  made_expires_at timestamptz[],
  hash bytea not null,
  primary key (usr, seq)
);
create unique index entries_refs on imagegend.entries (ref) where ref is not null;

-- Where the last entry of a charge stands: all else of it follows from that.
create table imagegend.charges (
  id text collate "C" primary key,
  usr text collate "C" not null,
  seq bigint not null,
  open boolean not null
) with (fillfactor = 80);
create index charges_open on imagegend.charges (id) where open;

create table imagegend.usage (
  usr text collate "C" not null,
  key text collate "C" not null,
  day date not null,
  model text collate "C" not null,
  charged bigint not null,
  refunded bigint not null,
  spent bigint not null,
  images bigint not null,
  generations bigint not null,
  failed bigint not null,
  cancelled bigint not null,
  api_key text collate "C" generated always as (case when key not like E'\x01%' then nullif(key, '') end) stored,
  member text collate "C" generated always as (case when key like E'\x01%' then substr(key, 2) end) stored,
  primary key (usr, key, day, model)
) with (fillfactor = 50);
create index usage_by_day on imagegend.usage (day, usr, key);

create table imagegend.key_totals (
  usr text collate "C" not null,
  key text collate "C" not null,
  credits bigint not null,
  open bigint not null,
  primary key (usr, key)
) with (fillfactor = 50);

create table imagegend.clock (
  version bigint not null,
  at timestamptz,
  doubt boolean not null,
  skew interval not null,
  epoch bigint not null,
  corrected_at timestamptz
);
insert into imagegend.clock values (0, null, false, '0', 0, null);

create table imagegend.generations (
  id text collate "C" primary key,
  usr text collate "C" not null,
  payer text collate "C",
  api_key text collate "C",
  model text collate "C" not null,
  prompt text,
  n integer not null,
  width integer not null,
  height integer not null,
  quality text,
  effort text,
  ratio text,
  tier text,
  price bigint not null,
  options jsonb not null,
  async boolean not null,
  idempotency_key text,
  idempotency_hash bytea,
  nth bigint not null,
  fingerprint bytea,
  join_key bytea,
  created_at timestamptz,
  charged_here boolean not null,
  state text not null,
  status text,
  attempt integer not null,
  failures integer not null,
  resumptions integer not null,
  delay interval not null,
  due_at timestamptz,
  job bytea,
  job_upstreams jsonb,
  published integer not null,
  failure text,
  failure_detail text,
  completed_at timestamptz,
  balance bigint,
  balance_account_type text,
  balance_expires bigint,
  balance_expires_at timestamptz,
  undelivered boolean not null,
  favourite boolean not null,
  partly_cancelled boolean not null,
  dispute text,
  refunded boolean not null,
  hosted boolean not null,
  image_count integer not null,
  reference_count integer not null,
  attempt_count integer not null
) with (fillfactor = 70);
-- The newest of a user's generations, by status and whatever it is. The index by status keeps, until the next vacuum, an
-- entry for each that was ever queued or under way, so that it does not serve for both. The condition of the other is
-- one that no page of a single status has: such a page would search it for the few that fit. Pages are in the order of
-- another collation, which is the same order: in that of the primary key, the planner would read all newer generations
-- of others until it meets those of a user who had many, long ago.
create index generations_listed on imagegend.generations (usr, status, id collate "POSIX") where status is not null;
create index generations_newest on imagegend.generations (usr, id collate "POSIX") where coalesce(status, '') <> '';
create index generations_favourites on imagegend.generations (usr, status, id collate "POSIX") where favourite;
create index generations_unsettled on imagegend.generations (id)
  where state in ('charging', 'queued', 'processing', 'settling');
create index generations_disputed on imagegend.generations (id) where dispute is not null;
create index generations_ends on imagegend.generations (completed_at, id) where state in ('succeeded', 'failed');
create index generations_prompts on imagegend.generations (completed_at, id)
  where state = 'failed' and prompt is not null;
create index generations_hashes on imagegend.generations (completed_at, id)
  where state = 'erased' and idempotency_hash is not null;
create index generations_reserved on imagegend.generations (usr, idempotency_hash, nth)
  where idempotency_hash is not null;
create index generations_joining on imagegend.generations (usr, join_key, id) where undelivered;

create table imagegend.images (
  generation text collate "C" not null,
  nr integer not null,
  id text collate "C" not null,
  attempt integer not null,
  media_type text not null,
  width integer not null,
  height integer not null,
  bytes bigint not null,
  sha256 bytea not null,
  created_at timestamptz,
  provenance text,
  primary key (generation, nr)
);

create table imagegend.reference_images (
  generation text collate "C" not null,
  nr integer not null,
  id text collate "C" not null,
  mask boolean not null,
  image text collate "C",
  media_type text not null,
  bytes bigint not null,
  width integer not null,
  height integer not null,
  sha256 bytea not null,
  orientation integer not null,
  copy_of text collate "C",
  primary key (generation, nr)
);

create table imagegend.attempts (
  generation text collate "C" not null,
  nr integer not null,
  attempt integer not null,
  provider text not null,
  images bigint not null,
  text_input bigint not null,
  image_input bigint not null,
  text_output bigint not null,
  image_output bigint not null,
  units bigint not null,
  machine_time interval not null,
  surplus bigint not null,
  cost bigint not null,
  reason text not null,
  primary key (generation, nr)
);

-- Of running generations; small and hot.
create table imagegend.leases (
  id text collate "C" primary key,
  attempt bigint not null,
  until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Of queued generations; small and hot.
create table imagegend.waiting (
  id text collate "C" primary key,
  usr text collate "C" not null,
  model text collate "C" not null,
  begun boolean not null,      -- before, in an attempt that did not finish it
  due timestamptz,             -- null: it is
  since timestamptz not null,  -- when the generation was created
  counted boolean not null default true -- in queue_lengths; not what a host's transaction has just brought
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index waiting_due on imagegend.waiting (usr, model, begun desc, id) where due is null;
create index waiting_delayed on imagegend.waiting (due) where due is not null;
create index waiting_old on imagegend.waiting (since);
create index waiting_uncounted on imagegend.waiting (usr) where not counted;

-- How many wait, so that nobody has to count them: of a user in part 0, and of all (usr '') in parts that are to be
-- added up, since those who queue something at the same time would otherwise wait for each other.
create table imagegend.queue_lengths (
  usr text collate "C" not null,
  part integer not null,
  n bigint not null,
  primary key (usr, part)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- The place of each user with work that is due in the line of each model. A row may outlast the work for as
-- long as nobody claims; it is never missing.
create table imagegend.turns (
  usr text collate "C" not null,
  model text collate "C" not null,
  turn bigint not null,
  primary key (usr, model)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index turns_in_line on imagegend.turns (model, turn);

-- What generations count for: sums that follow from them, for operators.
create table imagegend.generation_totals (
  day date not null, model text collate "C" not null, payer text collate "C" not null,
  usr text collate "C" not null, key text collate "C" not null,
  generations bigint not null, images bigint not null, spent bigint not null,
  attempts bigint not null, unknown bigint not null, cost bigint not null,
  primary key (day, model, payer, usr, key)
);

-- What has happened. A number is given once the row is committed.
create table imagegend.events (
  seq bigint generated always as identity primary key,
  number bigint unique,
  event text collate "C" not null,
  kind text not null,
  at timestamptz not null,
  usr text collate "C" not null,
  payer text collate "C",
  generation text collate "C",
  api_key text collate "C",
  model text collate "C",
  images bigint not null,
  credits bigint not null,
  balance bigint not null,
  below bigint not null,
  ref text,
  reason text,
  disputed boolean not null,
  bound bigint not null,
  period text,
  cost bigint not null,
  above bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
create index events_fresh on imagegend.events (seq) where number is null;

-- Who gives numbers, or removes events, locks this row first.
create table imagegend.feed (
  one boolean primary key default true check (one),
  kept boolean not null default false,
  removed bigint not null default 0
);
insert into imagegend.feed default values;

create table imagegend.feed_places (
  reader text collate "C" primary key,
  number bigint not null,
  event text,
  tries bigint not null,
  since timestamptz,
  at timestamptz,
  status bigint not null,
  answer text
);

-- Keys that are kept until a time, for limits that several processes share and for what works once.
create table imagegend.marks (
  key bytea primary key,
  until timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
create index marks_until on imagegend.marks (until);

-- Who changes users, keys or sign-ins, writes off or corrects the books of many, or puts rows into the trail, locks this
-- row first.
create table imagegend.acts (one boolean primary key default true check (one));
insert into imagegend.acts default values;

-- When a process began last what one of all is to do once in a while. place is how far it has come with what takes
-- several turns; null: it is not under way.
create table imagegend.duties (duty text primary key, began timestamptz not null, place text);

-- Whether everything is being moved elsewhere, or into here: a mark of package transfer. A program that knows
-- nothing of it would work on what is half there.
create table imagegend.moves (
  one boolean primary key default true check (one),
  state text,
  move text,
  other text,
  since timestamptz,
  bucket text,
  key bytea
);
insert into imagegend.moves default values;

-- What its triggers refuse, see SetMark.
create function imagegend.moved() returns trigger language plpgsql as '
begin raise exception ''everything here was moved, or is being moved, elsewhere''; end';
