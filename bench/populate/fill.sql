-- Fills an empty database as years of use would, with few statements: fill.users users. user_0 has a tenth of
-- fill.generations generations, and the others have equally many, spread over fill.days days; the last fill.queued of them
-- wait. Every row is as the service writes it, but for the hashes of the journal, which SQL cannot make: an audit
-- finds them.
set synchronous_commit = off;
set maintenance_work_mem = '512MB';
set work_mem = '256MB';
set timezone = 'UTC';

-- Indexes are made at the end, which is faster.
create temp table indexes as select indexname, indexdef from pg_indexes x where schemaname = 'imagegend'
  and not exists (select from pg_constraint c join pg_namespace s on s.oid = c.connamespace where s.nspname = 'imagegend' and c.conname = x.indexname);
do $$ declare i record; begin for i in select * from indexes loop execute format('drop index imagegend.%I', i.indexname); end loop; end $$;

create temp table people as select n, 'user_' || n as usr, 'key_' || lpad(n::text, 26, '0') as key
  from generate_series(0, current_setting('fill.users')::int - 1) n;

create temp table work as
select i, 'gen_' || lpad(i::text, 26, '0') as id, 'user_' || n as usr, 'key_' || lpad(n::text, 26, '0') as key, j,
  'model-' || i % 5 as model, at, at::date as day,
  case when i > generations - current_setting('fill.queued')::int then 'queued' when i % 33 = 0 then 'failed' else 'succeeded' end as state
from (select i, generations,
    date_trunc('milliseconds', now() - current_setting('fill.days')::int * interval '1 day' * (1 - i::float8 / (generations + 1))) as at,
    case when i % 10 = 0 then 0 else 1 + (i - i / 10 - 1) % (users - 1) end as n,
    case when i % 10 = 0 then i / 10 else 1 + (i - i / 10 - 1) / (users - 1) end as j
  from (select current_setting('fill.users')::int as users, current_setting('fill.generations')::int as generations) f,
    generate_series(1, generations) i) x;
create temp table settled as select usr, count(*) filter (where state <> 'queued') as settled from work group by usr; -- the first of each user
analyze work;

insert into imagegend.users (id, name, account_type, created_at, limit_credits, limit_daily, limit_monthly, limit_at_once)
select usr, usr, 'FREE', now() - interval '5 years', 0, 0, 0, 0 from people;
insert into imagegend.api_keys (hash, id, usr, name, prefix, created_at, last_used_at, members, limit_credits, limit_daily, limit_monthly, limit_at_once)
select sha256(key::bytea), key, usr, 'program', 'ig_' || n, now() - interval '5 years', now(), 0, 0, 0, 0, 0 from people;

insert into imagegend.generations (id, usr, api_key, model, prompt, n, width, height, quality, effort, ratio, tier, price, options, async,
  idempotency_key, idempotency_hash, nth, fingerprint, created_at, charged_here, state, status, attempt, failures, resumptions, delay,
  published, failure, completed_at, balance, balance_account_type, undelivered, favourite, partly_cancelled, refunded, hosted,
  image_count, reference_count, attempt_count)
select id, usr, key, model, 'a fox in the snow, seen from afar, in the light of the morning', 1, 1024, 1024, 'high', 'high', '1:1', '1K', 1, '{}', state = 'queued',
  'order ' || i, sha256(('order ' || i)::bytea), 1, sha256(id::bytea), at, true, state, state, (state <> 'queued')::int, 0, 0, '0',
  (state = 'succeeded')::int, case state when 'failed' then 'refused' end, case when state <> 'queued' then at + interval '8 s' end,
  case when state <> 'queued' then 1000000000 - j end, case when state <> 'queued' then 'FREE' end, false, i % 100 = 0 and state = 'succeeded', false, false, false,
  (state = 'succeeded')::int, 0, (state <> 'queued')::int from work;
insert into imagegend.images (generation, nr, id, attempt, media_type, width, height, bytes, sha256, created_at, provenance)
select id, 0, 'image_' || substr(id, 5) || repeat('A', 26), 1, 'image/png', 1024, 1024, 1400000, sha256(id::bytea), at + interval '8 s', 'kept'
from work where state = 'succeeded';
insert into imagegend.attempts (generation, nr, attempt, provider, images, text_input, image_input, text_output, image_output, units, machine_time, surplus, cost, reason)
select id, 0, 1, 'openai', (state = 'succeeded')::int, 20, 0, 0, 0, 0, '0', 0, case state when 'succeeded' then 40000 else 0 end, 'by image' from work where state <> 'queued';

insert into imagegend.entries (usr, seq, at, epoch, kind, ref, credits, used, balance, images, cancelled, made_lots, made_credits, made_promo, made_priority, hash)
select usr, 1, now() - interval '5 years', 0, 'grant', 'payment ' || usr, 1000000000, 0, 1000000000, 0, false, '{1}', '{1000000000}', '{f}', '{50}', sha256(usr::bytea) from people;
insert into imagegend.entries (usr, seq, at, epoch, kind, charge, model, api_key, credits, used, balance, images, cancelled, lots, took, hash)
select usr, j + 1 + least(settled, j - 1), at, 0, 'charge', id, model, key, -1, 0, 1000000000 - j, 1, false, '{1}', '{1}', sha256(id::bytea) from work join settled using (usr);
insert into imagegend.entries (usr, seq, at, epoch, kind, charge, model, api_key, credits, used, balance, images, cancelled, charged_at, lots, took, back, hash)
select usr, 2 * j + 1, at + interval '8 s', 0, 'settle', id, model, key, (state = 'failed')::int, (state = 'succeeded')::int, 1000000000 - j, (state = 'succeeded')::int, false, at, '{1}', '{1}',
  case state when 'failed' then '{1}'::bigint[] end, sha256(usr::bytea || id::bytea) from work where state <> 'queued';
insert into imagegend.charges (id, usr, seq, open)
select id, usr, case state when 'queued' then j + 1 + least(settled, j - 1) else 2 * j + 1 end, state = 'queued' from work join settled using (usr);
insert into imagegend.usage (usr, key, day, model, charged, refunded, spent, images, generations, failed, cancelled)
select usr, key, day, model, count(*), count(*) filter (where state = 'failed'), count(*) filter (where state = 'succeeded'), count(*) filter (where state = 'succeeded'),
  count(*), count(*) filter (where state = 'failed'), 0 from work group by usr, key, day, model;
insert into imagegend.generation_totals (day, model, payer, usr, key, generations, images, spent, attempts, unknown, cost)
select day, model, usr, usr, key, count(*), count(*) filter (where state = 'succeeded'), count(*) filter (where state = 'succeeded'), count(*), 0,
  40000 * count(*) filter (where state = 'succeeded') from work where state <> 'queued' group by usr, key, day, model;

create temp table sums as select usr, key, count(*) as charges, count(*) filter (where state = 'queued') as open, count(*) filter (where state = 'succeeded') as spent
from work group by usr, key;
insert into imagegend.key_totals (usr, key, credits, open) select usr, key, spent + open, open from sums;
insert into imagegend.lots (usr, lot, granted, remaining, held, spent, expired, revoked, moved, promo, priority, effective_at, ref, refund)
select usr, 1, 1000000000, 1000000000 - spent - open, open, spent, 0, 0, 0, false, 50, now() - interval '5 years', 'payment ' || usr, false
from people left join (select usr, spent, open from sums) s using (usr);
insert into imagegend.accounts (usr, available, held, granted, spent, lots, seq, hash, at)
select usr, 1000000000 - spent - open, open, 1000000000, spent, 1, 1 + 2 * charges - open, sha256(usr::bytea), now() from sums;

insert into imagegend.waiting (id, usr, model, begun, since) select id, usr, model, false, at from work where state = 'queued';
insert into imagegend.turns (usr, model, turn) select usr, model, min(i) from work where state = 'queued' group by usr, model;
insert into imagegend.queue_lengths (usr, part, n) select usr, 0, count(*) from work where state = 'queued' group by usr
union all select '', 0, count(*) from work where state = 'queued' having count(*) > 0;

do $$ declare i record; begin for i in select * from indexes loop execute i.indexdef; end loop; end $$;
drop table indexes, people, work, settled, sums;
