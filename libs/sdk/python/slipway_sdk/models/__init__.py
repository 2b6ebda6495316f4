"""Contains all the data models used in inputs/outputs"""

from .actor_dto import ActorDto
from .analysis_dto import AnalysisDto
from .analysis_metric_dto import AnalysisMetricDto
from .analysis_patch_dto import AnalysisPatchDto
from .approve_plan_dto import ApprovePlanDto
from .attempt_counts_dto import AttemptCountsDto
from .audience_dto import AudienceDto
from .audit_page_dto import AuditPageDto
from .audit_row_dto import AuditRowDto
from .binding_dto import BindingDto
from .binding_limits_dto import BindingLimitsDto
from .binding_page_dto import BindingPageDto
from .binding_target_dto import BindingTargetDto
from .bound_target_dto import BoundTargetDto
from .cancel_operation_dto import CancelOperationDto
from .capacity_dto import CapacityDto
from .catalog_endpoint_dto import CatalogEndpointDto
from .catalog_entry_dto import CatalogEntryDto
from .catalog_page_dto import CatalogPageDto
from .catalog_performance_dto import CatalogPerformanceDto
from .catalog_pricing_dto import CatalogPricingDto
from .condition_dto import ConditionDto
from .console_access_dto import ConsoleAccessDto
from .console_access_list_dto import ConsoleAccessListDto
from .create_binding_dto import CreateBindingDto
from .create_deployment_dto import CreateDeploymentDto
from .create_deployment_dto_labels import CreateDeploymentDtoLabels
from .create_passport_dto import CreatePassportDto
from .create_plan_dto import CreatePlanDto
from .create_plan_dto_predicted_impact_type_0 import CreatePlanDtoPredictedImpactType0
from .create_plan_dto_rollout import CreatePlanDtoRollout
from .create_product_dto import CreateProductDto
from .create_publication_dto import CreatePublicationDto
from .create_reference_dto import CreateReferenceDto
from .create_reference_dto_labels import CreateReferenceDtoLabels
from .create_sandbox_dto import CreateSandboxDto
from .create_sandbox_dto_labels import CreateSandboxDtoLabels
from .create_tenant_dto import CreateTenantDto
from .create_token_dto import CreateTokenDto
from .create_webhook_dto import CreateWebhookDto
from .created_tenant_dto import CreatedTenantDto
from .created_token_dto import CreatedTokenDto
from .created_webhook_dto import CreatedWebhookDto
from .deleted_webhook_dto import DeletedWebhookDto
from .deployment_dto import DeploymentDto
from .deployment_dto_labels import DeploymentDtoLabels
from .deployment_metrics_dto import DeploymentMetricsDto
from .deployment_page_dto import DeploymentPageDto
from .deployment_route_affinity_dto import DeploymentRouteAffinityDto
from .deployment_route_dto import DeploymentRouteDto
from .deployment_route_target_dto import DeploymentRouteTargetDto
from .distribution_dto import DistributionDto
from .effective_scaling_dto import EffectiveScalingDto
from .endpoint_spec_dto import EndpointSpecDto
from .engine_arg_dto import EngineArgDto
from .engine_arg_dto_choices_type_3 import EngineArgDtoChoicesType3
from .engine_arg_dto_default_type_3 import EngineArgDtoDefaultType3
from .engine_arg_dto_tune_type_3 import EngineArgDtoTuneType3
from .error_body_dto import ErrorBodyDto
from .error_envelope_dto import ErrorEnvelopeDto
from .event_dto import EventDto
from .event_dto_data import EventDtoData
from .event_page_dto import EventPageDto
from .evidence_dto import EvidenceDto
from .experiment_budget_dto import ExperimentBudgetDto
from .field_issue_dto import FieldIssueDto
from .file_dto import FileDto
from .file_list_dto import FileListDto
from .freeze_window_dto import FreezeWindowDto
from .instance_device_dto import InstanceDeviceDto
from .instance_dto import InstanceDto
from .instance_failure_dto import InstanceFailureDto
from .instance_list_dto import InstanceListDto
from .instance_progress_dto import InstanceProgressDto
from .latency_dto import LatencyDto
from .measured_dto import MeasuredDto
from .metrics_point_dto import MetricsPointDto
from .model_spec_dto import ModelSpecDto
from .money_dto import MoneyDto
from .new_owner_dto import NewOwnerDto
from .new_workspace_dto import NewWorkspaceDto
from .objective_dto import ObjectiveDto
from .operation_dto import OperationDto
from .operation_dto_result import OperationDtoResult
from .operation_envelope_dto import OperationEnvelopeDto
from .operation_page_dto import OperationPageDto
from .operation_step_dto import OperationStepDto
from .operation_step_dto_evidence_type_0 import OperationStepDtoEvidenceType0
from .operator_configuration_dto import OperatorConfigurationDto
from .owner_dto import OwnerDto
from .passport_affinity_dto import PassportAffinityDto
from .passport_affinity_request_dto import PassportAffinityRequestDto
from .passport_dto import PassportDto
from .passport_session_dto import PassportSessionDto
from .passport_stats_dto import PassportStatsDto
from .patch_operation_dto import PatchOperationDto
from .plan_actor_dto import PlanActorDto
from .plan_approval_dto import PlanApprovalDto
from .plan_change_dto import PlanChangeDto
from .plan_change_dto_from_type_0_type_3 import PlanChangeDtoFromType0Type3
from .plan_change_dto_value_type_0_type_3 import PlanChangeDtoValueType0Type3
from .plan_decision_dto import PlanDecisionDto
from .plan_dto import PlanDto
from .plan_dto_predicted_impact_type_0 import PlanDtoPredictedImpactType0
from .plan_dto_rollout import PlanDtoRollout
from .plan_evidence_dto import PlanEvidenceDto
from .plan_page_dto import PlanPageDto
from .plan_risk_dto import PlanRiskDto
from .policy_dto import PolicyDto
from .pricing_dto import PricingDto
from .probes_spec_dto import ProbesSpecDto
from .product_dto import ProductDto
from .product_page_dto import ProductPageDto
from .promotion_dto import PromotionDto
from .protection_dto import ProtectionDto
from .protection_patch_dto import ProtectionPatchDto
from .publication_binding_dto import PublicationBindingDto
from .publication_dto import PublicationDto
from .publication_page_dto import PublicationPageDto
from .put_file_dto import PutFileDto
from .qualification_check_dto import QualificationCheckDto
from .qualification_dto import QualificationDto
from .rate_dto import RateDto
from .reference_dto import ReferenceDto
from .reference_list_dto import ReferenceListDto
from .rehearsal_change_dto import RehearsalChangeDto
from .rehearsal_change_dto_value_type_3 import RehearsalChangeDtoValueType3
from .rehearsal_dto import RehearsalDto
from .reject_plan_dto import RejectPlanDto
from .reliability_dto import ReliabilityDto
from .replicas_dto import ReplicasDto
from .resources_spec_dto import ResourcesSpecDto
from .revision_diff_dto import RevisionDiffDto
from .revision_dto import RevisionDto
from .revision_list_dto import RevisionListDto
from .revision_metrics_dto import RevisionMetricsDto
from .revision_source_dto import RevisionSourceDto
from .revision_spec_dto import RevisionSpecDto
from .revoked_reference_dto import RevokedReferenceDto
from .rollback_dto import RollbackDto
from .rollout_dto import RolloutDto
from .rollout_dto_spec_patch import RolloutDtoSpecPatch
from .rollout_rehearsal_dto import RolloutRehearsalDto
from .route_affinity_dto import RouteAffinityDto
from .route_dto import RouteDto
from .route_hold_dto import RouteHoldDto
from .route_target_dto import RouteTargetDto
from .runtime_spec_dto import RuntimeSpecDto
from .runtime_spec_dto_args import RuntimeSpecDtoArgs
from .runtime_spec_dto_env import RuntimeSpecDtoEnv
from .sandbox_dto import SandboxDto
from .sandbox_dto_labels import SandboxDtoLabels
from .sandbox_list_dto import SandboxListDto
from .scaling_override_dto import ScalingOverrideDto
from .scaling_patch_dto import ScalingPatchDto
from .scaling_spec_dto import ScalingSpecDto
from .set_console_access_dto import SetConsoleAccessDto
from .set_policy_dto import SetPolicyDto
from .set_route_dto import SetRouteDto
from .slo_dto import SloDto
from .strategy_dto import StrategyDto
from .strategy_patch_dto import StrategyPatchDto
from .strategy_step_dto import StrategyStepDto
from .system_database_dto import SystemDatabaseDto
from .system_dto import SystemDto
from .system_gateway_dto import SystemGatewayDto
from .system_operations_dto import SystemOperationsDto
from .system_outbox_dto import SystemOutboxDto
from .system_queue_dto import SystemQueueDto
from .system_retention_dto import SystemRetentionDto
from .system_schema_dto import SystemSchemaDto
from .system_worker_dto import SystemWorkerDto
from .target_capacity_dto import TargetCapacityDto
from .target_condition_dto import TargetConditionDto
from .target_device_dto import TargetDeviceDto
from .target_device_holder_dto import TargetDeviceHolderDto
from .target_dto import TargetDto
from .target_engine_dto import TargetEngineDto
from .target_list_dto import TargetListDto
from .tenant_dto import TenantDto
from .tenant_list_dto import TenantListDto
from .token_counts_dto import TokenCountsDto
from .token_dto import TokenDto
from .token_list_dto import TokenListDto
from .update_deployment_dto import UpdateDeploymentDto
from .update_deployment_dto_labels_type_0 import UpdateDeploymentDtoLabelsType0
from .update_tenant_dto import UpdateTenantDto
from .warning_dto import WarningDto
from .webhook_delivery_dto import WebhookDeliveryDto
from .webhook_delivery_list_dto import WebhookDeliveryListDto
from .webhook_dto import WebhookDto
from .webhook_list_dto import WebhookListDto
from .who_am_i_dto import WhoAmIDto
from .who_tenant_dto import WhoTenantDto
from .workload_dto import WorkloadDto
from .workspace_dto import WorkspaceDto

__all__ = (
    "ActorDto",
    "AnalysisDto",
    "AnalysisMetricDto",
    "AnalysisPatchDto",
    "ApprovePlanDto",
    "AttemptCountsDto",
    "AudienceDto",
    "AuditPageDto",
    "AuditRowDto",
    "BindingDto",
    "BindingLimitsDto",
    "BindingPageDto",
    "BindingTargetDto",
    "BoundTargetDto",
    "CancelOperationDto",
    "CapacityDto",
    "CatalogEndpointDto",
    "CatalogEntryDto",
    "CatalogPageDto",
    "CatalogPerformanceDto",
    "CatalogPricingDto",
    "ConditionDto",
    "ConsoleAccessDto",
    "ConsoleAccessListDto",
    "CreateBindingDto",
    "CreateDeploymentDto",
    "CreateDeploymentDtoLabels",
    "CreatePassportDto",
    "CreatePlanDto",
    "CreatePlanDtoPredictedImpactType0",
    "CreatePlanDtoRollout",
    "CreateProductDto",
    "CreatePublicationDto",
    "CreateReferenceDto",
    "CreateReferenceDtoLabels",
    "CreateSandboxDto",
    "CreateSandboxDtoLabels",
    "CreateTenantDto",
    "CreateTokenDto",
    "CreateWebhookDto",
    "CreatedTenantDto",
    "CreatedTokenDto",
    "CreatedWebhookDto",
    "DeletedWebhookDto",
    "DeploymentDto",
    "DeploymentDtoLabels",
    "DeploymentMetricsDto",
    "DeploymentPageDto",
    "DeploymentRouteAffinityDto",
    "DeploymentRouteDto",
    "DeploymentRouteTargetDto",
    "DistributionDto",
    "EffectiveScalingDto",
    "EndpointSpecDto",
    "EngineArgDto",
    "EngineArgDtoChoicesType3",
    "EngineArgDtoDefaultType3",
    "EngineArgDtoTuneType3",
    "ErrorBodyDto",
    "ErrorEnvelopeDto",
    "EventDto",
    "EventDtoData",
    "EventPageDto",
    "EvidenceDto",
    "ExperimentBudgetDto",
    "FieldIssueDto",
    "FileDto",
    "FileListDto",
    "FreezeWindowDto",
    "InstanceDeviceDto",
    "InstanceDto",
    "InstanceFailureDto",
    "InstanceListDto",
    "InstanceProgressDto",
    "LatencyDto",
    "MeasuredDto",
    "MetricsPointDto",
    "ModelSpecDto",
    "MoneyDto",
    "NewOwnerDto",
    "NewWorkspaceDto",
    "ObjectiveDto",
    "OperationDto",
    "OperationDtoResult",
    "OperationEnvelopeDto",
    "OperationPageDto",
    "OperationStepDto",
    "OperationStepDtoEvidenceType0",
    "OperatorConfigurationDto",
    "OwnerDto",
    "PassportAffinityDto",
    "PassportAffinityRequestDto",
    "PassportDto",
    "PassportSessionDto",
    "PassportStatsDto",
    "PatchOperationDto",
    "PlanActorDto",
    "PlanApprovalDto",
    "PlanChangeDto",
    "PlanChangeDtoFromType0Type3",
    "PlanChangeDtoValueType0Type3",
    "PlanDecisionDto",
    "PlanDto",
    "PlanDtoPredictedImpactType0",
    "PlanDtoRollout",
    "PlanEvidenceDto",
    "PlanPageDto",
    "PlanRiskDto",
    "PolicyDto",
    "PricingDto",
    "ProbesSpecDto",
    "ProductDto",
    "ProductPageDto",
    "PromotionDto",
    "ProtectionDto",
    "ProtectionPatchDto",
    "PublicationBindingDto",
    "PublicationDto",
    "PublicationPageDto",
    "PutFileDto",
    "QualificationCheckDto",
    "QualificationDto",
    "RateDto",
    "ReferenceDto",
    "ReferenceListDto",
    "RehearsalChangeDto",
    "RehearsalChangeDtoValueType3",
    "RehearsalDto",
    "RejectPlanDto",
    "ReliabilityDto",
    "ReplicasDto",
    "ResourcesSpecDto",
    "RevisionDiffDto",
    "RevisionDto",
    "RevisionListDto",
    "RevisionMetricsDto",
    "RevisionSourceDto",
    "RevisionSpecDto",
    "RevokedReferenceDto",
    "RollbackDto",
    "RolloutDto",
    "RolloutDtoSpecPatch",
    "RolloutRehearsalDto",
    "RouteAffinityDto",
    "RouteDto",
    "RouteHoldDto",
    "RouteTargetDto",
    "RuntimeSpecDto",
    "RuntimeSpecDtoArgs",
    "RuntimeSpecDtoEnv",
    "SandboxDto",
    "SandboxDtoLabels",
    "SandboxListDto",
    "ScalingOverrideDto",
    "ScalingPatchDto",
    "ScalingSpecDto",
    "SetConsoleAccessDto",
    "SetPolicyDto",
    "SetRouteDto",
    "SloDto",
    "StrategyDto",
    "StrategyPatchDto",
    "StrategyStepDto",
    "SystemDatabaseDto",
    "SystemDto",
    "SystemGatewayDto",
    "SystemOperationsDto",
    "SystemOutboxDto",
    "SystemQueueDto",
    "SystemRetentionDto",
    "SystemSchemaDto",
    "SystemWorkerDto",
    "TargetCapacityDto",
    "TargetConditionDto",
    "TargetDeviceDto",
    "TargetDeviceHolderDto",
    "TargetDto",
    "TargetEngineDto",
    "TargetListDto",
    "TenantDto",
    "TenantListDto",
    "TokenCountsDto",
    "TokenDto",
    "TokenListDto",
    "UpdateDeploymentDto",
    "UpdateDeploymentDtoLabelsType0",
    "UpdateTenantDto",
    "WarningDto",
    "WebhookDeliveryDto",
    "WebhookDeliveryListDto",
    "WebhookDto",
    "WebhookListDto",
    "WhoAmIDto",
    "WhoTenantDto",
    "WorkloadDto",
    "WorkspaceDto",
)
