import {ModuleProvider, Modules} from "@medusajs/framework/utils";
import {GiftProvider} from "./service";

export default ModuleProvider(Modules.PAYMENT, {services: [GiftProvider]});
