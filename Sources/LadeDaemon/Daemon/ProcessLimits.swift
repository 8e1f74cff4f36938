import ControlServer
import Glibc

/// What the process may have of descriptors and of address space, and what the daemon needs of them. A daemon that has less
/// doesn't start: it would stop in the middle of its work, and some libraries end the process where they get no thread.
struct ProcessLimits: Sendable, Equatable {
  /// RLIMIT_NOFILE.
  var descriptors: Int
  /// RLIMIT_AS in bytes; nil for no limit.
  var addressSpace: Int64?
  /// What a thread takes for its stack: RLIMIT_STACK.
  var stack: Int64

  /// Those of this process.
  static func ofThisProcess() -> ProcessLimits {
    let stack = limit(RLIMIT_STACK)
    return ProcessLimits(
      descriptors: Int(clamping: limit(RLIMIT_NOFILE) ?? .max), addressSpace: limit(RLIMIT_AS),
      stack: stack ?? 0)
  }

  private static func limit(_ resource: __rlimit_resource) -> Int64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
      return nil
    }
    return Int64(clamping: limit.rlim_cur)
  }

  // MARK: Descriptors

  /// Its own files, sockets, pipes, timers and event queues, with the queue's store.
  private static let ownDescriptors = 43
  /// Of a store: the file, its log and its shared memory, of a writer and a reader.
  private static let storeDescriptors = 5
  /// Of a running job: input, rejects, their folder, and what a reader of its format opens.
  private static let jobDescriptors = 4
  /// Of connections, at least.
  private static let connections = 4
  /// Jobs that must be able to run, however many slots there are.
  private static let leastJobs = 2

  /// The descriptors without which a daemon of this configuration doesn't start.
  static func leastDescriptors(for configuration: DaemonConfiguration) -> Int {
    reserved(for: configuration, jobs: leastJobs) + connections
  }

  private static func reserved(for configuration: DaemonConfiguration, jobs: Int) -> Int {
    // A recipe has a hot folder, which stays open.
    ownDescriptors + storeDescriptors * configuration.stores.count + configuration.recipes.count
      + jobDescriptors * jobs
  }

  /// How many connections clients may hold at a time, so that jobs and stores have their descriptors.
  func connectionLimits(for configuration: DaemonConfiguration) -> ConnectionLimits {
    let slots = configuration.lanes.reduce(0) { $0 + $1.concurrency }
    let reserved = Self.reserved(for: configuration, jobs: max(slots, Self.leastJobs))
    return .ofProcess(with: descriptors, reserving: min(reserved, descriptors - Self.connections))
  }

  // MARK: Address space

  /// The least address space: that of program and libraries in a debug build (180 MB), two heaps, for which glibc reserves up
  /// to 128 MB, and the stacks of its threads, with a third to spare.
  var leastAddressSpace: Int64 { 512 << 20 + Self.threads * max(0, stack - Self.usualStack) }

  private static let threads: Int64 = 16
  /// What distributions set; a limit on it is the size of a thread's stack.
  private static let usualStack: Int64 = 8 << 20

  // MARK: The check

  /// Makes sure that there is enough address space, before there is a thread that couldn't be made.
  /// - Throws: ``DaemonError/limits(_:)``.
  func checkAddressSpace() throws(DaemonError) {
    guard let addressSpace, addressSpace < leastAddressSpace else { return }
    throw .limits(
      """
      the process may have \(addressSpace >> 20) MB of address space, and laded needs \(leastAddressSpace >> 20) MB or \
      more, most of which it never touches: raise LimitAS= of the service, or 'ulimit -v'. MemoryMax= limits the memory \
      that is really used
      """)
  }

  /// Makes sure that there are enough descriptors for a daemon of this configuration.
  /// - Throws: ``DaemonError/limits(_:)``.
  func check(for configuration: DaemonConfiguration) throws(DaemonError) {
    let least = Self.leastDescriptors(for: configuration)
    guard descriptors < least else { return }
    throw .limits(
      """
      the process may have \(descriptors) open files, and with this configuration laded needs \(least) or more: raise \
      LimitNOFILE= of the service, or 'ulimit -n'
      """)
  }
}
