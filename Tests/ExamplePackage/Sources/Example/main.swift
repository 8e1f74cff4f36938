// A company with two people, saved by one context and read by another; then a queue of jobs over such companies. Ends with 0
// when everything came out as it should.

import Foundation
import ManagedObjects

let coordinator = PersistentStoreCoordinator(model: CompanyModel.model)
try coordinator.addPersistentStore(.inMemory())

let writer = ManagedObjectContext(.confinement, coordinator: coordinator)
let company = Company(context: writer)
company.name = "Difference Engines"
company.address = Address(street: "Dorset Street 1", city: "London")
let ada = Person(context: writer)
ada.id = UUID()
ada.name = "Ada"
ada.state = "busy"
ada.home = "Ockham"
ada.slots = 3
let charles = Manager(context: writer)
charles.name = "Charles"
charles.committed = true
company.employees = [charles, ada]
try writer.save()

let reader = ManagedObjectContext(.confinement, coordinator: coordinator)
guard let read = try reader.fetch(Company.fetchRequest()).first, let first = read.employees.first as? Manager,
  let last = read.employees.last, read.address?.city == "London", last.id == ada.id, last.state == "busy",
  last.home == "Ockham", last.slots == 3, last.employer === read
else {
  print("the company didn't come back as it was saved")
  exit(1)
}
print("\(read.name ?? ""): \(first.title), \(last.name ?? "")")

try await CompanyJobs.run()
