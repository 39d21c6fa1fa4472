-- minimum program: 3
--
-- Who looks for what ended long ago reads nothing else: by its creation, which a clock that was corrected since dated, it
-- is not found.
create index generations_ends on imagegend.generations (ended, id) where ended is not null;
drop index imagegend.generations_ended;
