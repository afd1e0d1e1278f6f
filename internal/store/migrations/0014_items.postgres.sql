CREATE TRIGGER voucher_items_never_change BEFORE UPDATE OF items_id ON voucher
FOR EACH ROW EXECUTE FUNCTION never('what a voucher is good for never changes');

CREATE TRIGGER item_list_never_changes BEFORE UPDATE ON item_list
FOR EACH ROW EXECUTE FUNCTION never('lists of items are never changed');

CREATE TRIGGER item_list_never_deleted BEFORE DELETE ON item_list
FOR EACH ROW EXECUTE FUNCTION never('lists of items are never deleted');
