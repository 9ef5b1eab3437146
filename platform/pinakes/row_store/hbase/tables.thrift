// What Pinakes uses of HBase's second Thrift interface: tables, families, and one row.
// Numbers and names are those of HBase 2.x (hbase-thrift, thrift2/hbase.thrift); what is left
// out is skipped when it is read.  A family's descriptor is whole, so that an administrator's
// own settings survive when ours are changed.

enum TBloomFilterType { NONE = 0, ROW = 1, ROWCOL = 2, ROWPREFIX_FIXED_LENGTH = 3 }
enum TCompressionAlgorithm { LZO = 0, GZ = 1, NONE = 2, SNAPPY = 3, LZ4 = 4, BZIP2 = 5, ZSTD = 6 }
enum TDataBlockEncoding { NONE = 0, PREFIX = 2, DIFF = 3, FAST_DIFF = 4, ROW_INDEX_V1 = 7 }

struct TTableName {
  1: optional binary ns
  2: required binary qualifier
}

struct TColumnFamilyDescriptor {
  1: required binary name
  2: optional map<binary, binary> attributes
  3: optional map<binary, binary> configuration
  4: optional i32 blockSize
  5: optional TBloomFilterType bloomnFilterType
  6: optional TCompressionAlgorithm compressionType
  7: optional i16 dfsReplication
  8: optional TDataBlockEncoding dataBlockEncoding
  9: optional i32 keepDeletedCells
  10: optional i32 maxVersions
  11: optional i32 minVersions
  12: optional i32 scope
  13: optional i32 timeToLive
  14: optional bool blockCacheEnabled
  15: optional bool cacheBloomsOnWrite
  16: optional bool cacheDataOnWrite
  17: optional bool cacheIndexesOnWrite
  18: optional bool compressTags
  19: optional bool evictBlocksOnClose
  20: optional bool inMemory
}

struct TTableDescriptor {
  1: required TTableName tableName
  2: optional list<TColumnFamilyDescriptor> columns
}

struct TNamespaceDescriptor { 1: required binary name }

struct TColumn {
  1: required binary family
  2: optional binary qualifier
}

struct TColumnValue {
  1: required binary family
  2: required binary qualifier
  3: required binary value
}

struct TGet {
  1: required binary row
  2: optional list<TColumn> columns
}

struct TPut {
  1: required binary row
  2: required list<TColumnValue> columnValues
}

struct TResult {
  1: optional binary row
  2: required list<TColumnValue> columnValues
}

exception TIOError { 1: optional binary message }

service THBaseService {
  TResult get(1: required binary table, 2: required TGet tget) throws (1: TIOError io)
  void put(1: required binary table, 2: required TPut tput) throws (1: TIOError io)
  list<TTableDescriptor> getTableDescriptorsByPattern(
    1: optional binary regex, 2: required bool includeSysTables) throws (1: TIOError io)
  void createTable(1: required TTableDescriptor desc, 2: optional list<binary> splitKeys)
    throws (1: TIOError io)
  void addColumnFamily(1: required TTableName tableName, 2: required TColumnFamilyDescriptor column)
    throws (1: TIOError io)
  void modifyColumnFamily(
    1: required TTableName tableName, 2: required TColumnFamilyDescriptor column)
    throws (1: TIOError io)
  list<TNamespaceDescriptor> listNamespaceDescriptors() throws (1: TIOError io)
  void createNamespace(1: required TNamespaceDescriptor namespaceDesc) throws (1: TIOError io)
  void disableTable(1: required TTableName tableName) throws (1: TIOError io)
  void deleteTable(1: required TTableName tableName) throws (1: TIOError io)
}
