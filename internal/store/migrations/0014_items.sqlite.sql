CREATE TRIGGER voucher_items_never_change BEFORE UPDATE OF items_id ON voucher
BEGIN SELECT RAISE(ABORT, 'what a voucher is good for never changes'); END;

CREATE TRIGGER item_list_never_changes BEFORE UPDATE ON item_list
BEGIN SELECT RAISE(ABORT, 'lists of items are never changed'); END;

CREATE TRIGGER item_list_never_deleted BEFORE DELETE ON item_list
BEGIN SELECT RAISE(ABORT, 'lists of items are never deleted'); END;
