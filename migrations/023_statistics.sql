-- Migration 022 rewrote every row of these tables: without new statistics, the planner expects
-- the old values of their status columns until autovacuum analyzes them.
ANALYZE actions;
ANALYZE label_batch_items;
ANALYZE export_parts;
