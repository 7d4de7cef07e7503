"""admission_status: inpatient or observation, what does this record support?"""
