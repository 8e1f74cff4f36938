import ControlAPI
import Foundation
import Testing

@Suite("ladectl model infer")
struct InferTests {
  private struct Found: Decodable {
    struct Entity: Decodable {
      let name: String
      let key: [String]
    }
    let entities: [Entity]
    let order: [String]
    let model: String?
  }

  private static func files(in directory: TemporaryDirectory) throws -> [String] {
    let customers = directory.file("customers.csv")
    let orders = directory.file("orders.csv")
    try Data("id;name\n1;Ada\n2;Bob\n".utf8).write(to: URL(fileURLWithPath: customers))
    try Data("order_id;customer_id\n10;1\n11;1\n".utf8).write(to: URL(fileURLWithPath: orders))
    return [orders, customers]
  }

  @Test("shows what it found, and writes a model that is shown without a warning")
  func infer() async throws {
    let directory = try TemporaryDirectory()
    let files = try Self.files(in: directory)
    let shown = try await LadectlProcess.run(["model", "infer"] + files)
    #expect(shown.status == 0, "\(shown.error)")
    #expect(shown.output.contains("key: order_id"))
    #expect(shown.output.contains("Customer.id, 2 matched"))
    #expect(shown.output.contains("Order of import: customers.csv, orders.csv"))

    let model = directory.file("Shop.xcdatamodel")
    let written = try await LadectlProcess.run(["model", "infer"] + files + ["--output", model])
    #expect(written.status == 0, "\(written.error)")
    #expect(written.output.contains(model))
    let read = try await LadectlProcess.run(["model", "show", model])
    #expect(read.output.hasPrefix("2 entities\n"), "\(read.output)")
    #expect(read.output.contains("to one Customer"), "\(read.output)")
  }

  @Test("says it as JSON, and reads all files with the options given")
  func json() async throws {
    let directory = try TemporaryDirectory()
    let files = try Self.files(in: directory)
    let result = try await LadectlProcess.run(["model", "infer", "--json", "--option", "delimiter=;"] + files)
    #expect(result.status == 0, "\(result.error)")
    let found = try JSONDecoder().decode(Found.self, from: Data(result.output.utf8))
    #expect(found.entities.map(\.name) == ["Order", "Customer"])
    #expect(found.entities.map(\.key) == [["order_id"], ["id"]])
    #expect(found.order == ["customers.csv", "orders.csv"])
    #expect(found.model == nil)
  }

  @Test("compares files with a model, and says what it lacks")
  func against() async throws {
    let directory = try TemporaryDirectory()
    let files = try Self.files(in: directory)
    let model = directory.file("Shop.xcdatamodel")
    #expect(try await LadectlProcess.run(["model", "infer"] + files + ["--output", model]).status == 0)
    let fitting = try await LadectlProcess.run(["model", "infer"] + files + ["--against", model])
    #expect(
      fitting.status == 0 && fitting.output.contains("takes all of the files"), "\(fitting.error)\(fitting.output)")
    try Data("id;name;phone\n1;Ada;+49\n".utf8).write(to: URL(fileURLWithPath: files[1]))
    let changed = try await LadectlProcess.run(["model", "infer"] + files + ["--against", model])
    #expect(
      changed.output.contains(#"<attribute name="phone" optional="YES" attributeType="String"/>"#), "\(changed.output)")
    let wrong = try await LadectlProcess.run(
      ["model", "infer"] + files + ["--against", directory.file("None.xcdatamodel")])
    #expect(wrong.status != 0 && wrong.error.contains("None.xcdatamodel"), "\(wrong.error)")
  }

  @Test("writes over a model only with --force")
  func force() async throws {
    let directory = try TemporaryDirectory()
    let files = try Self.files(in: directory)
    let command = ["model", "infer"] + files + ["--output", directory.file("Shop.xcdatamodel")]
    #expect(try await LadectlProcess.run(command).status == 0)
    let again = try await LadectlProcess.run(command)
    #expect(again.status == 1)
    #expect(again.error.contains("--force"), "\(again.error)")
    #expect(try await LadectlProcess.run(command + ["--force"]).status == 0)
  }

  @Test("what can't be read is reported by its name, and a wrong command line with its usage")
  func errors() async throws {
    let directory = try TemporaryDirectory()
    let files = try Self.files(in: directory)
    let missing = try await LadectlProcess.run(["model", "infer", directory.file("none.csv")])
    #expect(missing.status == 1)
    #expect(missing.error.contains("none.csv"), "\(missing.error)")
    let option = try await LadectlProcess.run(["model", "infer", "--option", "delimeter=;"] + files)
    #expect(option.status == 1)
    #expect(option.error.contains("delimeter"), "\(option.error)")
    let wrong: [[String]] = [
      [], files + ["--output", "x.txt"], files + ["--output", "a.xcdatamodel", "--name", "a"], files + ["--force"],
    ]
    for arguments in wrong {
      #expect(try await LadectlProcess.run(["model", "infer"] + arguments).status == 64)
    }
  }
}
