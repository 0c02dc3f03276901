#pragma once

#include "installer/doctor.h"

// The gates in the order of the chain. Where a record shows nothing, a gate is unseen; where a host shows nothing, what
// should be there is missing.
namespace ctkit::installer {

Gate module_gate(const DoctorFacts& facts);
Gate libraries_gate(const DoctorFacts& facts);
Gate devices_gate(const DoctorFacts& facts);
Gate toolkit_gate(const DoctorFacts& facts);
Gate handlers_gate(const DoctorFacts& facts);
Gate dump_gate(const DoctorFacts& facts);
Gate loaded_gate(const DoctorFacts& facts);
Gate specs_gate(const DoctorFacts& facts);
Gate validator_gate(const DoctorFacts& facts);

}  // namespace ctkit::installer
