/** What the kit says of itself. */
export declare const kitName = "typescript";
/** The version of package.json. */
export declare const kitVersion = "0.1.0";
/** The version of the conversation that the kit speaks. */
export declare const protocol = 1;
