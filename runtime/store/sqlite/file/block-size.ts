/**
 * Page size of new files, in bytes. A commit writes whole pages, most of them for an entry or two of an index: with
 * SQLite's own 4,096 a quarter more is written. https://www.sqlite.org/pragma.html#pragma_page_size
 */
export const PAGE_SIZE = 2048;
