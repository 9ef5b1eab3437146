"""Archive files in a folder of HDFS, through hdfs-native."""
