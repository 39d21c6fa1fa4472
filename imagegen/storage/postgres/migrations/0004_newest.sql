-- minimum program: 3
--
-- The newest of a user's generations, whatever their status. The index by status keeps, until the next vacuum, an entry for
-- each generation that was ever queued or under way: a page of all statuses passed over every one of them.
-- Its condition is one that no page of a single status has: such a page would search it for the few that fit.
create index generations_newest on imagegend.generations (usr, id) where coalesce(status, '') <> '';
