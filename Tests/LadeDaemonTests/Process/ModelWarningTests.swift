import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("A daemon with a model that can be improved", .startsDaemons)
struct ModelWarningTests {
  private static let model = """
    <model>
      <entity name="Customer">
        <attribute name="id" attributeType="Integer 64"><userInfo><entry key="mappedKeyname" value="ID"/></userInfo></attribute>
        <relationship name="orders" toMany="YES" destinationEntity="Order" inverseName="customer"/>
        <relationship name="part" optional="YES" destinationEntity="Order" inverseName="parts"/>
      </entity>
      <entity name="Order">
        <relationship name="customer" optional="YES" destinationEntity="Customer" inverseName="orders"/>
        <relationship name="parts" toMany="YES" destinationEntity="Customer" inverseName="part"/>
      </entity>
    </model>
    """

  @Test("the check, the reload and the start warn, of the imported entities; all mistakes are reported")
  func warnings() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: "  customers: { store: shop, entity: Customer, mode: insert }\n")
    try FileManager.default.createDirectory(atPath: folder.file("Shop.xcdatamodel"), withIntermediateDirectories: false)
    try folder.write(Self.model, to: "Shop.xcdatamodel/contents")
    let text = try folder.text("lade.yaml")
    let shop = "stores: { shop: { path: shop.sqlite, model: Shop.xcdatamodel }, "
    try folder.write(text.replacing("stores: { ", with: shop), to: "lade.yaml")
    let expected = ["Customer.id's userInfo key mappedKeyname", "Customer.orders is to-many and required"]

    let daemon = try await folder.start()
    let log = try daemon.log
    for words in expected { #expect(log.contains("configuration: ") && log.contains(words)) }
    let check = try await folder.asked(ConfigurationCheck.self, "config", "check")
    #expect(check.isGood && check.warnings.allSatisfy { $0.key == "stores.shop.model" && $0.line != nil })
    let reload = try await folder.asked(Reload.self, "reload")
    #expect(check.warnings.count == expected.count && reload.warnings.count == expected.count)
    for (words, warning) in zip(expected, check.warnings) { #expect(warning.message.hasPrefix(words), "\(warning)") }
    for (words, warning) in zip(expected, reload.warnings) { #expect(warning.contains(words), "\(warning)") }
    let offline = try await folder.asked(ConfigurationCheck.self, "config", "check", folder.file("lade.yaml"))
    #expect(offline.isGood && offline.warnings.count == expected.count)
    #expect(offline.warnings.allSatisfy { $0.file == folder.file("lade.yaml") && $0.line != nil }, "\(offline)")

    let wrong = Self.model.replacing("Integer 64\"", with: "Integer 64\" optional=\"yes\"")
      .replacing("inverseName=\"orders\"", with: "inverseName=\"orders\" deletionRule=\"Explode\"")
    try folder.write(wrong, to: "Shop.xcdatamodel/contents")
    let refused: ConfigurationCheck = try await folder.http("GET", Endpoint.checkConfiguration.path).decoded()
    #expect(!refused.isGood && refused.mistakes.count == 2, "\(refused.mistakes)")
    #expect(refused.mistakes.contains { $0.message.contains("contents:3: id's optional is “yes”") })
    #expect(refused.mistakes.contains { $0.message.contains("contents:8: customer's deletionRule is “Explode”") })
    try await daemon.stop()
  }
}
