import ControlServer
import LadeTypes
import Testing

@testable import LadeDaemon

@Suite("The limits of a process")
struct ProcessLimitsTests {
  private static let enough = ProcessLimits(
    descriptors: 16_384, addressSpace: nil, stack: 8 << 20)

  private static func configuration(stores: Int = 1, recipes: Int = 1, slots: Int = 1) -> DaemonConfiguration {
    var configuration = DaemonConfiguration()
    configuration.stores = (0..<stores).map { StoreConfiguration(name: "store\($0)", path: "/s\($0)", model: "/m") }
    configuration.recipes = (0..<recipes).map { RecipeConfiguration(name: "recipe\($0)", store: "store0", entity: "E") }
    configuration.lanes = [LaneConfiguration(name: "import", concurrency: slots)]
    return configuration
  }

  @Test("are enough as they usually are, and with 64 descriptors for a store and two recipes")
  func usual() throws {
    try Self.enough.check(for: Self.configuration(stores: 20, recipes: 200))
    try Self.enough.checkAddressSpace()
    var few = Self.enough
    few.descriptors = 64
    try few.check(for: Self.configuration(recipes: 2, slots: 16))
  }

  @Test("that are too low are named, with what is needed and what to raise")
  func tooLow() {
    var limits = Self.enough
    limits.descriptors = 48
    limits.addressSpace = 300 << 20
    let descriptors = #expect(throws: DaemonError.self) { try limits.check(for: Self.configuration()) }
    let space = #expect(throws: DaemonError.self) { try limits.checkAddressSpace() }
    for (error, words) in [
      (descriptors, ["48 open files", "LimitNOFILE="]),
      (space, ["300 MB of address space", "512 MB or more", "LimitAS="]),
    ] {
      #expect(error?.exitStatus == 71)
      for word in words { #expect(error?.description.contains(word) == true, "\(error?.description ?? "")") }
    }
  }

  @Test("grow with the configuration")
  func growing() {
    let least = ProcessLimits.leastDescriptors(for: Self.configuration())
    #expect(ProcessLimits.leastDescriptors(for: Self.configuration(recipes: 2)) > least)
    #expect(ProcessLimits.leastDescriptors(for: Self.configuration(stores: 2)) > least)
    // Slots without descriptors wait for them: jobs are tried again.
    #expect(ProcessLimits.leastDescriptors(for: Self.configuration(slots: 16)) == least)
  }

  @Test("leave jobs and stores their descriptors, whatever clients take", arguments: [64, 100, 256, 1024], [1, 16])
  func connections(descriptors: Int, slots: Int) {
    var limits = Self.enough
    limits.descriptors = descriptors
    let configuration = Self.configuration(slots: slots)
    let connections = limits.connectionLimits(for: configuration)
    #expect(connections.ofEverybody >= 3)
    let needed = ProcessLimits.leastDescriptors(for: configuration) - 4
    #expect(connections.ofEverybody + needed <= descriptors)
  }
}
