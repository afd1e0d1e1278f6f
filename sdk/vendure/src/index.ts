export {BoonGiftsPlugin} from "./plugin";
export {giftHandler} from "./handler";
export type {BoonGiftsOptions} from "./options";
